{{- define "dormouse.name" -}}
{{- if contains "dormouse" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-dormouse" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "dormouse.selector" -}}
app.kubernetes.io/name: dormouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dormouse.labels" -}}
{{ include "dormouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "dormouse.hosts" -}}
{{- $name := include "dormouse.name" . }}
{{- $port := .Values.service.port | int }}
{{- $hosts := list }}
{{- range list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) }}
{{- $hosts = append $hosts (printf "%s:%d" . $port) }}
{{- end }}
{{- concat $hosts .Values.allowedHosts | toJson }}
{{- end }}

{{- define "dormouse.config" -}}
[server]
listen = "0.0.0.0:3676"
allowed_hosts = {{ include "dormouse.hosts" . }}
{{- with .Values.publicUrl }}
public_url = {{ . | toJson }}
{{- end }}
{{- if .Values.tls.secretName }}
tls_cert = "/etc/dormouse-tls/tls.crt"
tls_key = "/etc/dormouse-tls/tls.key"
{{- end }}
{{- if .Values.metrics.enabled }}
metrics_listen = "0.0.0.0:{{ .Values.metrics.port }}"
{{- end }}
{{- with .Values.server }}
{{ . | trim }}
{{- end }}
{{- if eq .Values.store.kind "postgres" }}

[store]
url_env = "DORMOUSE_STORE_URL"
{{- end }}
{{- with .Values.config }}

{{ . | trim }}
{{- end }}
{{- end }}

{{- define "dormouse.probe" -}}
httpGet:
  path: {{ .path }}
  port: http
  scheme: {{ if .root.Values.tls.secretName }}HTTPS{{ else }}HTTP{{ end }}
  # The address of the pod is no allowed Host.
  httpHeaders: [{name: Host, value: "localhost:3676"}]
timeoutSeconds: 5
{{- end }}

{{- define "dormouse.pod" -}}
metadata:
  labels:
    {{- include "dormouse.selector" . | nindent 4 }}
  annotations:
    checksum/config: {{ include "dormouse.config" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  containers:
    - name: dormouse
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - serve
        - --config
        - /etc/dormouse/dormouse.toml
        # A folder in the volume: the server makes it, with mode 0700.
        - --data
        - /var/lib/dormouse/data
        {{- if not .Values.tls.secretName }}
        - --insecure
        {{- end }}
      ports:
        - {name: http, containerPort: 3676}
        {{- if .Values.metrics.enabled }}
        - {name: metrics, containerPort: {{ .Values.metrics.port }}}
        {{- end }}
      {{- if or (eq .Values.store.kind "postgres") .Values.tokenSecret.name }}
      env:
        {{- if eq .Values.store.kind "postgres" }}
        - name: DORMOUSE_STORE_URL
          valueFrom: {secretKeyRef: {{ toJson .Values.store.urlSecret }}}
        {{- end }}
        {{- if .Values.tokenSecret.name }}
        - name: DORMOUSE_TOKEN
          valueFrom: {secretKeyRef: {{ toJson .Values.tokenSecret }}}
        {{- end }}
      {{- end }}
      {{- with .Values.envSecrets }}
      envFrom:
        {{- range . }}
        - secretRef: {name: {{ . }}}
        {{- end }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      # The first start after an upgrade may migrate the store.
      startupProbe:
        {{- include "dormouse.probe" (dict "root" . "path" "/healthz") | nindent 8 }}
        periodSeconds: 2
        failureThreshold: 300
      livenessProbe:
        {{- include "dormouse.probe" (dict "root" . "path" "/healthz") | nindent 8 }}
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        {{- include "dormouse.probe" (dict "root" . "path" "/readyz") | nindent 8 }}
        periodSeconds: 5
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/dormouse}
        - {name: config, mountPath: /etc/dormouse, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        {{- if .Values.tls.secretName }}
        - {name: tls, mountPath: /etc/dormouse-tls, readOnly: true}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "dormouse.name" . }}}
    - name: tmp
      emptyDir: {}
    {{- if eq .Values.store.kind "postgres" }}
    # The token and the keys are in the database.
    - name: data
      emptyDir: {}
    {{- end }}
    {{- with .Values.tls.secretName }}
    - name: tls
      secret: {secretName: {{ . }}, defaultMode: 0440}
    {{- end }}
  {{- if eq .Values.store.kind "postgres" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "dormouse.selector" . | nindent 10 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toJson . }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toJson . }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{ toJson . }}
  {{- end }}
{{- end }}

#compdef dormouse
# zsh completion of dormouse, printed by: dormouse completion zsh

# Ids from the server: quickly, or none.
_dormouse_ids() {
    local -a where found
    local -i i
    local kind=$argv[-1]
    for ((i = 2; i <= $#typed; i++)); do
        case $typed[i] in
            --server=*|--data=*|--project=*|--context=*) where+=("${(Q)typed[i]}") ;;
            --server|--data|--project|--context) where+=("${(Q)typed[i]}" "${(Q)typed[i+1]}") ;;
        esac
    done
    found=("${(@f)$(dormouse candidates $kind "$PREFIX" $where 2>/dev/null)}")
    found=(${found//:/\\:})
    found=(${found/$'\t'/:})
    [[ -n $found[1] ]] && _describe $kind found
}

{{=option}}{{#positional}}'{{^required}}:{{/required}}{{/positional}}{{^positional}}{{&spelled}}[{{about|spec}}]{{/positional}}{{#value}}:{{value|spec}}:{{#choice}}({{#choices " "}}{{.}}{{/choices}}){{/choice}}{{#file}}_files{{/file}}{{#dir}}_files -/{{/dir}}{{#text}} {{/text}}{{#ids}}_dormouse_ids {{kind}}{{/ids}}{{/value}}'{{/option}}
{{=group}}
    local curcontext=$curcontext state line commands=(
{{#commands}}
        '{{name|item}}:{{about|item}}'
{{/commands}}
    )
    _arguments -C{{#program}}{{#options}} \
        {{>option}}{{/options}}{{/program}} \
        '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe command commands ;;
        argument) case $line[1] in
{{#commands}}
            {{name}}) {{function}} ;;
{{/commands}}
        esac ;;
    esac
{{/group}}
{{#all}}
{{function}}() {
{{#group}}
{{>group}}
{{/group}}
{{^group}}
    _arguments -s{{#options}} \
        {{>option}}{{/options}}{{#program}}{{#options}}{{^common}} \
        {{>option}}{{/common}}{{/options}}{{/program}}
{{/group}}
}

{{/all}}
_dormouse() {
    # What was typed in full: `words` will begin at the command.
    local -a typed=($words)
{{>group}}
}

# Read by compinit from a file called _dormouse, it is called at once; sourced, it registers.
if [ "$funcstack[1]" = _dormouse ]; then _dormouse "$@"; else compdef _dormouse dormouse; fi

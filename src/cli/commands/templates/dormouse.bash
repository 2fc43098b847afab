# bash completion of dormouse, printed by: dormouse completion bash

# What the value of an option, or the positional with that number, is.
_dormouse_kind() {
    kind=
    case $1 in
{{#all}}
{{#options}}
{{#value}}
        {{#keys "|"}}'{{path}}':{{.}}{{/keys}}) kind='{{kind}}' ;;
{{/value}}
{{/options}}
{{/all}}
{{#options}}
{{#value}}
        {{#keys "|"}}*:{{.}}{{/keys}}) kind='{{kind}}' ;;
{{/value}}
{{/options}}
    esac
}

_dormouse_commands() {
    commands=
    case $1 in
        '') commands='{{#commands " "}}{{name}}{{/commands}}' ;;
{{#all}}
{{#group}}
        '{{path}}') commands='{{#commands " "}}{{name}}{{/commands}}' ;;
{{/group}}
{{/all}}
    esac
}

_dormouse_options() {
    options='{{#flags " "}}{{.}}{{/flags}}'
    case $1 in
{{#all}}
        '{{path}}') options+=' {{#flags " "}}{{.}}{{/flags}}' ;;
{{/all}}
    esac
}

# Ids from the server: quickly, or none.
_dormouse_ids() {
    local line
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("$dormouse" candidates "$1" "$2" "${where[@]}" 2>/dev/null)
}

_dormouse() {
    local dormouse=${COMP_WORDS[0]} words=() where=() path='' kind='' option='' number=1
    local word i commands options current
    COMPREPLY=()
    # What bash has split at : and = is one word again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && { [[ $word == [:=]* ]] || [[ ${words[-1]} == *[:=] ]]; }; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    ((${#words[@]})) || return 0
    current=${words[-1]}
    unset 'words[-1]'
    for word in "${words[@]}"; do
        if [[ -n $option ]]; then
            case $option in --server|--data|--project|--context) where+=("$option" "$word") ;; esac
            option=
        elif [[ $word == -?*=* ]]; then
            case $word in --server=*|--data=*|--project=*|--context=*) where+=("$word") ;; esac
        elif [[ $word == -?* ]]; then
            _dormouse_kind "$path:$word"
            [[ -z $kind ]] || option=$word
        else
            _dormouse_commands "$path"
            if [[ " $commands " == *" $word "* ]]; then
                path+=${path:+ }$word
            else
                ((number++))
            fi
        fi
    done
    if [[ -z $option && $current == -?*=* ]]; then
        option=${current%%=*} current=${current#*=}
    elif [[ -z $option && $current == -* ]]; then
        _dormouse_options "$path"
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return 0
    fi
    _dormouse_commands "$path"
    if [[ -z $option && -n $commands ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$current"))
        return 0
    fi
    _dormouse_kind "$path:${option:-$number}"
    case $kind in
        =*) COMPREPLY=($(compgen -W "${kind#=}" -- "$current")) ;;
        file|dir)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -"${kind:0:1}" -- "$current") ;;
        ''|text) ;;
        *) _dormouse_ids "$kind" "$current" ;;
    esac
}
complete -F _dormouse dormouse

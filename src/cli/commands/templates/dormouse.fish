# fish completion of dormouse, printed by: dormouse completion fish

# Ids from the server: quickly, or none.
function __dormouse_ids
    set -l words (commandline -opc)
    set -l where
    for i in (seq (count $words))
        switch $words[$i]
            case '--server=*' '--data=*' '--project=*' '--context=*'
                set -a where $words[$i]
            case --server --data --project --context
                set -l next (math $i + 1)
                test $next -le (count $words); and set -a where $words[$i] $words[$next]
        end
    end
    dormouse candidates $argv[1] (commandline -ct) $where 2>/dev/null
end

complete -c dormouse -f
{{=value}}{{#value}}{{#choice}} -x -a '{{#choices " "}}{{.}}{{/choices}}'{{/choice}}{{#file}} -r -F{{/file}}{{#dir}} -x -a '(__fish_complete_directories)'{{/dir}}{{#text}} -x{{/text}}{{#ids}} -x -a '(__dormouse_ids {{kind}})'{{/ids}}{{/value}}{{/value}}
{{#options}}
complete -c dormouse{{#short}} -s {{.}}{{/short}}{{#long}} -l {{.}}{{/long}}{{>value}} -d '{{about}}'
{{/options}}
{{#commands}}
complete -c dormouse -n __fish_use_subcommand -a {{name}} -d '{{about}}'
{{#options}}
{{^common}}
{{#positional}}
{{^text}}
complete -c dormouse -n '__fish_seen_subcommand_from {{name}}'{{>value}}
{{/text}}
{{/positional}}
{{^positional}}
complete -c dormouse -n '__fish_seen_subcommand_from {{name}}'{{#short}} -s {{.}}{{/short}}{{#long}} -l {{.}}{{/long}}{{>value}} -d '{{about}}'
{{/positional}}
{{/common}}
{{/options}}
{{#commands}}
complete -c dormouse -n '__fish_seen_subcommand_from {{parent}}' -a {{name}} -d '{{about}}'
{{/commands}}
{{/commands}}

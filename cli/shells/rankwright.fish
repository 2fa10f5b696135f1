# Completion of rankwright for fish. The program itself knows what comes next; this asks it.
function __rankwright_next
    set -l finished (commandline -opc)
    set -l current (commandline -ct)
    for line in ($finished[1] __complete $finished[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
        else
            printf '%s\n' $line
        end
    end
end
complete -c rankwright -f -a '(__rankwright_next)'

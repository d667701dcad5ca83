# Kills every registered process group once its stdin ends, that is, once the host is gone, however it went.
# Lines: `+ TOKEN GROUP` registers, `- TOKEN` forgets. A line of any other form is ignored.
trap '' HUP INT QUIT TERM TSTP
live=' '
while read -r op token group; do
    case $token in '' | *[!0-9]*) continue ;; esac
    case $op in
    +)
        # 0 and 1 would mean our own group and everybody.
        case $group in '' | 0* | 1 | *[!0-9]*) continue ;; esac
        live="$live$token:$group "
        ;;
    -)
        while case $live in *" $token:"*) true ;; *) false ;; esac; do
            rest=${live#*" $token:"}
            live="${live%%" $token:"*} ${rest#* }"
        done
        ;;
    esac
done
for entry in $live; do
    kill -s KILL -- "-${entry#*:}"
done 2>/dev/null

# Kills every registered process group once its stdin ends, that is, once the host is gone, however it went.
# Lines: `+ TOKEN GROUP` registers, `= TOKEN PID START` adds one who left the group, `- TOKEN` forgets both. A line of any
# other form is ignored.
trap '' HUP INT QUIT TERM TSTP
live=' '
known=' '
while read -r op token group start; do
    case $token in '' | *[!0-9]*) continue ;; esac
    case $op in
    +)
        # 0 and 1 would mean our own group and everybody.
        case $group in '' | 0* | 1 | *[!0-9]*) continue ;; esac
        live="$live$token:$group "
        ;;
    =)
        case $group in '' | 0* | 1 | *[!0-9]*) continue ;; esac
        case $start in '' | *[!0-9]*) continue ;; esac
        known="$known$token:$group:$start "
        ;;
    -)
        while case $live in *" $token:"*) true ;; *) false ;; esac; do
            rest=${live#*" $token:"}
            live="${live%%" $token:"*} ${rest#* }"
        done
        while case $known in *" $token:"*) true ;; *) false ;; esac; do
            rest=${known#*" $token:"}
            known="${known%%" $token:"*} ${rest#* }"
        done
        ;;
    esac
done
exec 2>/dev/null

# Linux: who descends from a group and left it, found by the parents while these live.
look() {
    read -r line <"/proc/$1/stat" || return 1
    set -- ${line##*) }
    parent=$2 group=$3 start=${20}
}
family=' ' strays=' '
for entry in $live; do family="$family${entry#*:} "; done
for entry in $known; do
    entry=${entry#*:}
    # The number may be another's by now.
    if look "${entry%:*}" && [ "$start" = "${entry#*:}" ]; then
        family="$family${entry%:*} " strays="$strays$entry "
    fi
done
found=$live
while [ "$found" != ' ' ]; do
    found=' '
    for pid in /proc/[0-9]*; do
        pid=${pid#/proc/}
        case $family in *" $pid "*) continue ;; esac
        look "$pid" || continue
        case $family in *" $parent "* | *" $group "*) found="$found$pid:$start " ;; esac
    done
    for entry in $found; do family="$family${entry%:*} "; done
    strays="$strays$found"
done

for entry in $live; do kill -s KILL -- "-${entry#*:}"; done
for entry in $strays; do
    # The number may be another's by now.
    look "${entry%:*}" && [ "$start" = "${entry#*:}" ] && kill -s KILL "${entry%:*}"
done
exit 0

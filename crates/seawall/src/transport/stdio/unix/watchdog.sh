# Kills every registered process group once its stdin ends, that is, once the host is gone, however it went.
# With it go the descendants that left their group, and, on Linux, whoever carries the mark $1 in the environment.
# $2, if there is one, is the directory of the launches' control groups, and $3 what their names begin with.
# Lines: `+ TOKEN GROUP` registers, `= TOKEN PID START` adds one who left the group, `- TOKEN` forgets both. A line of any
# other form is ignored.
trap '' HUP INT QUIT TERM TSTP
# A short one could be in anybody's environment, and an empty one is in everybody's.
mark=$1
case $mark in *[!0-9a-f]*) mark= ;; esac
[ ${#mark} -eq 32 ] || mark=
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

# The control groups, each with all that is in it. They are empty a moment after.
end_control_groups() {
    [ -n "$2" ] || return 0
    for group in "$1/$2"*; do
        [ -e "$group/cgroup.kill" ] && echo 1 >"$group/cgroup.kill"
    done
}
remove_control_groups() {
    [ -n "$2" ] || return 0
    for round in 1 2 3 4 5 6 7 8 9; do
        left=
        for group in "$1/$2"*; do
            [ -d "$group" ] || continue
            # A server may have made others in its own.
            rmdir "$group" || find "$group" -depth -type d -exec rmdir {} +
            [ -d "$group" ] && left=1
        done
        [ -n "$left" ] || break
        sleep 0.1 || sleep 1
    done
}
control=$2 names=$3

end_groups() {
    end_control_groups "$control" "$names"
    for entry in $live; do kill -s KILL -- "-${entry#*:}"; done
}
# Where there is no /proc, and where it is another namespace's, so that its numbers are others' here, nobody is looked for.
self=
read -r self rest <"/proc/self/stat"
if [ "$self" != "$$" ]; then
    end_groups
    remove_control_groups "$control" "$names"
    exit 0
fi

# Who carries the mark, as file names.
marked() {
    [ -n "$mark" ] || return 1
    grep -slF -e "$mark" /proc/[0-9]*/environ
    # One whose first thread ended is shown as a zombie, and its environment by the other threads alone.
    for file in $(grep -sl '^State:[[:space:]]*Z' /proc/[0-9]*/status); do
        grep -slF -e "$mark" "${file%/status}"/task/[0-9]*/environ
    done
}

# Linux: who left a group, found by the mark, by the parents while these live, or in a group or session of a found one.
look() {
    read -r line <"/proc/$1/stat" || return 1
    set -- ${line##*) }
    parent=$2 group=$3 session=$4 start=${20}
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
for file in $(marked); do
    pid=${file#/proc/} pid=${pid%%/*}
    case $family in *" $pid "*) continue ;; esac
    look "$pid" && family="$family$pid " strays="$strays$pid:$start "
done
found=$family
while [ "$found" != ' ' ]; do
    found=' '
    for pid in /proc/[0-9]*; do
        pid=${pid#/proc/}
        case $family in *" $pid "*) continue ;; esac
        look "$pid" || continue
        case $family in *" $parent "* | *" $group "* | *" $session "*) found="$found$pid:$start " ;; esac
    done
    for entry in $found; do family="$family${entry%:*} "; done
    strays="$strays$found"
done

end_groups
for entry in $strays; do
    # The number may be another's by now.
    look "${entry%:*}" && [ "$start" = "${entry#*:}" ] && kill -s KILL "${entry%:*}"
done

# Whoever was forked meanwhile. The number may be another's by now, so the mark itself is looked at again.
for round in 1 2 3 4 5 6 7 8 9; do
    # Its status tells nothing: it is an error where one file cannot be read.
    left=$(marked)
    [ -n "$left" ] || break
    for file in $left; do
        pid=${file#/proc/} pid=${pid%%/*}
        grep -sqF -e "$mark" "$file" && kill -s KILL "$pid"
    done
done
remove_control_groups "$control" "$names"
exit 0

#!/bin/sh
# guard.sh PROGRAM ARGUMENT…: runs the supervisor of a stack behind the terminal, and again when it dies or hangs.
#
# A shell, because it lives as long as the stack and has nothing to do: it takes about 1 MB. The last argument tells a
# supervisor where to report how its start goes: the first one to standard output, later ones nowhere.

up_file=$PRISM_GUARD_OF/up.json
state_file=$PRISM_GUARD_OF/run/supervisor.json
# `prism down` finds the guard by this variable, the path of the data folder. What the guard starts must not be taken for it.
unset PRISM_GUARD_OF

PAUSE_S_MAX=60
HEALTHY_AFTER_S=60
OK=0
USAGE=2
ALREADY_RUNNING=3
CRASHED=70
SIGNALLED_MIN=128
# A supervisor touches its state file every second, and stops within a minute. One that has not done it in so many looks hangs.
LOOK_S=10
LOOKS_MAX=9

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

# Kills a supervisor that hangs. It counts looks and not seconds, because a machine may sleep; and a state file that nobody can
# write proves nothing.
watch() {
    looks=0
    last=
    while sleep $LOOK_S && kill -0 "$1" 2>/dev/null; do
        touched=$(date -r "$state_file" +%s 2>/dev/null)
        if [ -w "$state_file" ] && [ "$touched" = "$last" ]; then looks=$((looks + 1)); else looks=0; fi
        last=$touched
        [ $looks -lt $LOOKS_MAX ] && continue
        echo "$(now) guard: the supervisor hangs; killing it"
        kill -KILL "$1"
    done
}

# Waits for the end of a supervisor; sets `code`.
follow() {
    watch "$1" &
    watcher=$!
    wait "$1"
    code=$?
    kill $watcher 2>/dev/null
}

pause_s=1
started_at=$(date +%s)
"$@" 1 &
# Whoever reads the reports has to see the end of them when that supervisor ends.
exec >&2
follow $!
# One that did not get the stack up has told why, and the one who asked for it decides.
if [ $code -ne $CRASHED ] && { [ $code -lt $SIGNALLED_MIN ] || [ ! -e "$up_file" ]; }; then
    exit $code
fi
while [ $code -ne $OK ] && [ $code -ne $USAGE ] && [ $code -ne $ALREADY_RUNNING ]; do
    [ $(($(date +%s) - started_at)) -lt $HEALTHY_AFTER_S ] || pause_s=1
    echo "$(now) guard: the supervisor ended with code $code; starting it again in $pause_s s"
    sleep $pause_s
    pause_s=$((pause_s * 2 < PAUSE_S_MAX ? pause_s * 2 : PAUSE_S_MAX))
    started_at=$(date +%s)
    "$@" - &
    follow $!
done

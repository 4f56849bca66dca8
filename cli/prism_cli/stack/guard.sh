#!/bin/sh
# guard.sh PROGRAM ARGUMENT…: runs the supervisor of a stack in the background, and restarts it when it dies or hangs.
#
# A shell, because it lives as long as the stack and is idle: it takes about 1 MB. The last argument is where a
# supervisor reports its start: standard output for the first one, nowhere for later ones.

up_file=$PRISM_GUARD_OF/up.json
state_file=$PRISM_GUARD_OF/run/supervisor.json
# `prism down` finds the guard by this variable, the path of the data folder. Children of the guard must not have it.
unset PRISM_GUARD_OF

PAUSE_S_MAX=60
HEALTHY_AFTER_S=60
OK=0
USAGE=2
ALREADY_RUNNING=3
CRASHED=70
SIGNALLED_MIN=128
# A supervisor touches its state file every second, and stops within a minute. Without a touch in this many looks it hangs.
LOOK_S=10
LOOKS_MAX=9

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

# Kills a supervisor that hangs. It counts looks and not seconds, because a machine may sleep. A state file that is not
# writable proves nothing.
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
# The reader of the reports must see their end when that supervisor ends.
exec >&2
follow $!
# A supervisor that did not get the stack up has reported the reason, and the caller decides.
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

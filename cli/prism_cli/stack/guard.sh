#!/bin/sh
# guard.sh PROGRAM ARGUMENT…: runs the supervisor of a stack behind the terminal, and again when it dies without being told to.
#
# A shell, because it lives as long as the stack and has nothing to do: it takes about 1 MB. The last argument tells a
# supervisor where to report how its start goes: the first one to standard output, later ones nowhere.

up_file=$PRISM_GUARD_OF/up.json
# `prism down` finds the guard by this variable, the path of the data folder. What the guard starts must not be taken for it.
unset PRISM_GUARD_OF

PAUSE_S_MAX=60
HEALTHY_AFTER_S=60
OK=0
USAGE=2
ALREADY_RUNNING=3
CRASHED=70
SIGNALLED_MIN=128

pause_s=1
started_at=$(date +%s)
"$@" 1 &
# Whoever reads the reports has to see the end of them when that supervisor ends.
exec >&2
wait $!
code=$?
# One that did not get the stack up has told why, and the one who asked for it decides.
if [ $code -ne $CRASHED ] && { [ $code -lt $SIGNALLED_MIN ] || [ ! -e "$up_file" ]; }; then
    exit $code
fi
while [ $code -ne $OK ] && [ $code -ne $USAGE ] && [ $code -ne $ALREADY_RUNNING ]; do
    [ $(($(date +%s) - started_at)) -lt $HEALTHY_AFTER_S ] || pause_s=1
    echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) guard: the supervisor ended with code $code; starting it again in $pause_s s"
    sleep $pause_s
    pause_s=$((pause_s * 2 < PAUSE_S_MAX ? pause_s * 2 : PAUSE_S_MAX))
    started_at=$(date +%s)
    "$@" -
    code=$?
done

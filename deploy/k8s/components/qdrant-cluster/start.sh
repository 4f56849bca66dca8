#!/bin/bash
# The first peer begins a cluster, the others join it. A peer with data ignores --bootstrap.
peer=https://$POD_NAME.qdrant-headless:6335
first=https://qdrant-0.qdrant-headless:6335
if [ "$peer" = "$first" ]; then
  exec ./entrypoint.sh --uri "$peer"
fi
exec ./entrypoint.sh --uri "$peer" --bootstrap "$first"

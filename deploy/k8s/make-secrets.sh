#!/usr/bin/env bash
# Makes the three Secrets of Prism: make-secrets.sh FOLDER [NAMESPACE]
#
# FOLDER gets a file per value, and secrets.yaml for `kubectl apply -f`. Values that exist are kept, so it is safe
# to run again after an upgrade, which writes new permissions of NATS. It calls no cluster. Keep the folder where
# you keep secrets, outside of the repository. PRISM names the command, where it is not on the path.
set -euo pipefail
umask 077
folder=${1:?"usage: make-secrets.sh FOLDER [NAMESPACE]"}
namespace=${2:-prism}

random() { # FILE BYTES
  [ -s "$1" ] || openssl rand -hex "$2" | tr -d '\n' > "$1"
}

secret() { # NAME, from the files of its folder
  printf -- '---\n'
  kubectl create secret generic "$1" --namespace "$namespace" --from-file "$folder/$1" --dry-run=client --output yaml
}

mkdir -p "$folder"/prism-{nats,qdrant,gateway}
"${PRISM:-prism}" nats-logins "$folder/prism-nats" --namespace "$namespace"
random "$folder/prism-qdrant/api-key" 32
random "$folder/prism-gateway/secrets-key" 32
random "$folder/prism-gateway/webhook-secret" 32
# The first token, which makes all others. The cluster gets its hash.
[ -s "$folder/first-token" ] || printf 'prism_%s' "$(openssl rand -hex 24)" > "$folder/first-token"
openssl dgst -sha256 -r "$folder/first-token" | cut -d' ' -f1 | tr -d '\n' > "$folder/prism-gateway/bootstrap-token-sha256"

{ cat "$folder/prism-nats/kubernetes.yaml"; secret prism-qdrant; secret prism-gateway; } > "$folder/secrets.yaml"
echo "$folder/secrets.yaml has the Secrets, $folder/first-token the first token."

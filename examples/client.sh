# Four short functions around curl, for the first steps in a shell: `. examples/client.sh`
# They talk to the server on PORT (8700) with the token in CAIRN_ADMIN_TOKEN.

server="http://127.0.0.1:${PORT:-8700}/api"

get() { # PATH
  curl --silent --show-error --fail-with-body --header "Authorization: Bearer $CAIRN_ADMIN_TOKEN" "$server/$1"
}

post() { # PATH [BODY or @FILE] [json or yaml]
  curl --silent --show-error --fail-with-body --header "Authorization: Bearer $CAIRN_ADMIN_TOKEN" \
    --header "Content-Type: application/${3:-json}" --data-binary "${2:-}" "$server/$1"
}

pick() { # a part of the JSON that comes in, as Python would write it: pick "['items'][0]"
  python3 -c "import json, sys; print(json.load(sys.stdin)$1)"
}

wait_for() { # PATH PART VALUE: until that part has this value
  until [ "$(get "$1" | pick "$2")" = "$3" ]; do sleep 0.1; done
}

# Four short functions around curl, for the first steps in a shell: `. examples/client.sh`
# Where the server is, and its token, is read from the data folder: DATA_DIR (./cairn-data).

pick() { # a part of the JSON that comes in, as Python would write it: pick "['items'][0]"
  python3 -c "import json, sys; print(json.load(sys.stdin)$1)"
}

found="${DATA_DIR:-cairn-data}/server.json"
if grep -qs address "$found"; then
  server=$(pick "['address']" < "$found")
  auth="Authorization: Bearer $(pick "['token']" < "$found")"
else
  echo "No server runs on ${DATA_DIR:-cairn-data}: start it with make run." >&2
fi

get() { # PATH
  curl --silent --show-error --fail-with-body --header "$auth" "$server/api/$1"
}

post() { # PATH [BODY or @FILE] [json or yaml]
  curl --silent --show-error --fail-with-body --header "$auth" --header "Content-Type: application/${3:-json}" \
    --data-binary "${2:-}" "$server/api/$1"
}

wait_for() { # PATH PART VALUE: until that part has this value
  until [ "$(get "$1" | pick "$2")" = "$3" ]; do sleep 0.1; done
}

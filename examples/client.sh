# Four short functions around curl, for the first steps in a shell: `. examples/client.sh`
# The address and the token of the server are read from the data folder: DATA_DIR (./cairn-data).

pick() { # print a part of the JSON on stdin, as a Python expression: pick "['items'][0]"
  python3 -c "import json, sys; print(json.load(sys.stdin)$1)"
}

server_file="${DATA_DIR:-cairn-data}/server.json"
if grep -qs address "$server_file"; then
  server=$(pick "['address']" < "$server_file")
  auth="Authorization: Bearer $(pick "['token']" < "$server_file")"
else
  echo "No server is running on ${DATA_DIR:-cairn-data}. Start it with make run." >&2
fi

get() { # PATH
  curl --silent --show-error --fail-with-body --header "$auth" "$server/api/$1"
}

post() { # PATH [BODY or @FILE] [json or yaml]
  curl --silent --show-error --fail-with-body --header "$auth" --header "Content-Type: application/${3:-json}" \
    --data-binary "${2:-}" "$server/api/$1"
}

wait_for() { # PATH PART VALUE: wait until the part has this value
  until [ "$(get "$1" | pick "$2")" = "$3" ]; do sleep 0.1; done
}

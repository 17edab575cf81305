# Sourced by ./run and ./test: finds the tools they need, and installs those it may.

# Runs a part, says its name before and its duration after; ends the script when it fails.
part() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    "$@" || { local code=$?; echo "== $name: FAILED after $((SECONDS - start)) s" >&2; exit "$code"; }
    echo "== $name: $((SECONDS - start)) s"
}

# Installs Debian packages when we are root; else says what to install.
# usage: need PACKAGES because WHY
need_packages() {
    local packages=$1 why=$2
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "== installing $packages ($why)"
        apt-get update -q >/dev/null
        # shellcheck disable=SC2086 # several packages in one word
        DEBIAN_FRONTEND=noninteractive apt-get install -q --yes --no-install-recommends $packages >/dev/null
    else
        echo "$0: missing: $packages ($why). On Debian or Ubuntu: sudo apt-get install $packages" >&2
        exit 1
    fi
}

# What the browser part and the server are built with.
need_build_tools() {
    if ! command -v cargo >/dev/null && [ -f "$HOME/.cargo/env" ]; then
        source "$HOME/.cargo/env"
    fi
    if ! command -v cargo >/dev/null; then
        echo "$0: there is no cargo. Install Rust with rustup: https://rustup.rs" >&2
        exit 1
    fi
    command -v cc >/dev/null || need_packages "gcc libc6-dev" "a C compiler, for SQLite"
    command -v npm >/dev/null || need_packages "nodejs npm" "the charts' library comes from npm"
}

# What the tests need besides.
need_test_tools() {
    command -v chromium >/dev/null || need_packages "chromium fonts-dejavu-core" "the browser tests"
    [ -n "$(postgres_bin)" ] || need_packages "postgresql" "the store is tested on PostgreSQL as well"
    command -v runuser >/dev/null || need_packages "util-linux" "PostgreSQL refuses to run as root"
}

# The folder of the newest PostgreSQL server's programs; nothing when there is none.
postgres_bin() {
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    if [ -n "$found" ] && [ -x "$found/initdb" ]; then
        echo "$found"
    elif command -v initdb >/dev/null; then
        dirname "$(command -v initdb)"
    fi
}

# Starts a PostgreSQL of our own on a socket below the folder $1 and puts its address into
# QUOTA_TEST_POSTGRES. Durability is off: the folder is thrown away.
start_postgres() {
    local folder=$1 bin as=()
    bin=$(postgres_bin)
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ]; then
        as=(runuser -u postgres --)
        chown postgres "$folder"
    fi
    (
        cd "$folder"
        "${as[@]}" "$bin/initdb" --pgdata=data --username=quota --auth=trust --encoding=UTF8 \
            --locale=C --no-sync >initdb.log 2>&1 || { cat initdb.log >&2; exit 1; }
        "${as[@]}" "$bin/pg_ctl" --pgdata=data --log=server.log --wait --timeout=60 start \
            --options="-c listen_addresses='' -c unix_socket_directories='$folder' -c fsync=off \
                -c synchronous_commit=off -c full_page_writes=off -c max_connections=300" >pg_ctl.log 2>&1 ||
            { cat pg_ctl.log server.log >&2; exit 1; }
    )
    export QUOTA_TEST_POSTGRES="postgres://quota@localhost/postgres?host=$folder"
}

# Stops it.
stop_postgres() {
    local folder=$1 bin as=()
    [ -d "$folder/data" ] || return 0
    bin=$(postgres_bin)
    [ "$(id -u)" != 0 ] || as=(runuser -u postgres --)
    (cd "$folder" && "${as[@]}" "$bin/pg_ctl" --pgdata=data --mode=immediate --wait stop >/dev/null 2>&1) || true
}

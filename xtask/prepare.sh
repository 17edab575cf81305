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
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ -n "${TEST_DATABASE_URL_POSTGRES:-}" ] ||
        need_packages "postgresql" "the store is tested on PostgreSQL as well"
}

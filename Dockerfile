# One image with one program in it: the server, with the browser part inside.
#
#   docker build --tag quota-marketplace .
#   docker run --publish 7878:7878 --volume quota:/var/lib/quota-marketplace quota-marketplace

FROM rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends nodejs npm \
    && rm -rf /var/lib/apt/lists/* \
    && rustup target add wasm32-unknown-unknown
WORKDIR /source
COPY . .
RUN cargo run --locked --package xtask -- site --toolchain installed \
    && cargo build --locked --release --package server

FROM debian:bookworm-slim
# Certificates that identity providers are checked against.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /var/lib/quota-marketplace --no-create-home --shell /usr/sbin/nologin quota \
    && install --directory --owner quota --group quota /var/lib/quota-marketplace
COPY --from=build /source/target/release/quota-marketplace /usr/local/bin/
USER quota
WORKDIR /var/lib/quota-marketplace
VOLUME /var/lib/quota-marketplace
EXPOSE 7878
# The image has no HTTP client; the shell's own network device is enough to ask.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/7878 && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r -u 3 status && [[ $status == *' 200 '* ]]"]
ENTRYPOINT ["quota-marketplace"]
CMD ["serve", "--listen", "0.0.0.0:7878", "--database", "sqlite:/var/lib/quota-marketplace/market.sqlite"]

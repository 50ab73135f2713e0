# The emulator, for other containers. It trusts everybody who knows the key, and encrypts nothing.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETARCH
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w" -o /agentyard-emulator ./internal/emulator/cmd/agentyard-emulator && mkdir /data

FROM scratch
COPY --from=build /agentyard-emulator /agentyard-emulator
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
ENV TMPDIR=/data AGENTYARD_EMULATOR_API_KEY=fk-emulator AGENTYARD_BASE_URL=http://127.0.0.1:8787
EXPOSE 8787 8788
HEALTHCHECK --interval=2s CMD ["/agentyard-emulator", "control", "GET", "clock"]
ENTRYPOINT ["/agentyard-emulator", "-listen", "0.0.0.0:8787", "-files-listen", "0.0.0.0:8788", "-files-url", "http://emulator:8788", "-data", "/data/emulator.db", "-step", "0", "-session-delay", "0", "-session-list-delay", "0", "-message-delay", "0"]

# One image for every process of the service; its command says which one:
# api, worker --queue live, worker --queue bulk, views, sweeper, migrate. Configured by TREESCORE_ variables only.
# Layers stand in the order in which they change: an edit of docs/ or service/ compiles nothing, one of treescore/
# installs nothing.

ARG BASE=debian:trixie-slim

FROM ${BASE} AS python
RUN apt-get update && \
    apt-get install --yes --no-install-recommends python3 && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/* /usr/lib/python3*/pydoc_data /usr/lib/python3*/test && \
    groupadd --gid 10001 treescore && \
    useradd --uid 10001 --gid 10001 --home-dir /var/lib/treescore --no-create-home --shell /usr/sbin/nologin treescore && \
    install --directory --owner=10001 --group=10001 --mode=700 /var/lib/treescore

FROM python AS dependencies
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv binutils
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/treescore
WORKDIR /source
COPY pyproject.toml constraints.txt ./
# Every dependency comes as a wheel: what would need a compiler fails here. Tests of packages, headers, symbols and what
# of SciPy is not used stay out of the image; of their modules those are compiled to bytecode that are used.
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/pip/bin/pip install --disable-pip-version-check "pip==26.3" && \
    python3 -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > needs && \
    /opt/pip/bin/pip --python /opt/treescore/bin/python install --no-compile --only-binary :all: \
        --constraint constraints.txt --requirement needs --group service && \
    cd /opt/treescore/lib/python3*/site-packages/scipy && \
    rm -r cluster constants datasets differentiate fftpack integrate interpolate io linalg misc ndimage odr optimize signal \
        sparse spatial stats && \
    find /opt/treescore -type d -name tests -prune -exec rm -rf {} + && \
    find /opt/treescore -regex '.*\.\(pyi\|pyx\|pxd\|h\|hpp\|c\|cpp\|a\)' -delete && \
    find /opt/treescore -name '*.so' -not -path '*.libs/*' -exec strip --strip-unneeded {} + && \
    /opt/treescore/bin/python -c 'import alembic.command, flask, gunicorn.app.wsgiapp, gunicorn.workers.gthread, httpx, \
        jsonschema, markdown_it, marshmallow, multipart, numba, orjson, prometheus_client, psycopg, rich.console, rq, \
        scipy.fft, scipy.special, sqlalchemy.orm, sqlalchemy.dialects.postgresql.psycopg, ulid, yaml'

FROM dependencies AS library
ENV NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=/var/cache/treescore PYTHONDONTWRITEBYTECODE=1
WORKDIR /srv/treescore
COPY treescore treescore
# Machine code is valid for sources of one time of change, of which layers keep whole seconds only.
RUN find treescore -exec touch --date=2026-01-01 {} + && /opt/treescore/bin/python -m treescore.warm

# What installs packages and what sets a user's id stay out, too, and encodings that Python does not use.
FROM python AS lean
RUN set -- apt libapt-pkg7.0 mount passwd perl-base sqv util-linux && dpkg-query --show "$@" && \
    dpkg --purge --force-depends --force-remove-essential "$@" && rm -r /usr/lib/*-linux-gnu/gconv

FROM scratch
COPY --from=lean / /
COPY --from=dependencies /opt/treescore /opt/treescore
COPY --from=library /srv/treescore /srv/treescore
COPY --from=library /var/cache/treescore /var/cache/treescore
COPY service /srv/treescore/service
COPY workers /srv/treescore/workers
COPY openapi.yaml /srv/treescore/
# The guides, which /docs shows.
COPY docs /srv/treescore/docs
# The root may be read-only: machine code is made for any processor of the kind and used as it lies; what is written goes
# to the state folder and /tmp, which may be empty at each start.
ENV PATH=/opt/treescore/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONPATH=/srv/treescore \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/var/cache/treescore \
    NUMBA_CPU_NAME=generic \
    TREESCORE_BIND=0.0.0.0:8000 \
    TREESCORE_PROBE_BIND=0.0.0.0:8001 \
    TREESCORE_HEARTBEAT_FILE=/tmp/alive \
    TREESCORE_DATA_DIR=/var/lib/treescore
WORKDIR /var/lib/treescore
USER 10001:10001
EXPOSE 8000 8001
STOPSIGNAL SIGTERM
# Of the API's process alone, and without another Python; workers, views and the sweeper touch a file instead.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8001 && printf 'GET /livez HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["python", "-m", "service"]
CMD ["api"]

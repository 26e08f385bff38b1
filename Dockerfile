# One image for every process of the service; its command says which one:
# api, worker --queue live, worker --queue bulk, sweeper, migrate. Configured by TREESCORE_ variables only.

FROM python:3.12-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/treescore
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY treescore treescore
# Every dependency comes as a wheel: a build that would need a compiler fails here instead of growing the image.
RUN /opt/treescore/bin/pip install --upgrade "pip>=25.1" && \
    /opt/treescore/bin/pip install --constraint constraints.txt --only-binary :all: --no-binary treescore . --group service

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --user-group --home-dir /var/lib/treescore --create-home treescore
COPY --from=build /opt/treescore /opt/treescore
# The wheel holds the library; the service and the workers run from this folder.
COPY service /srv/treescore/service
COPY workers /srv/treescore/workers
COPY openapi.yaml /srv/treescore/
# The guides, which /docs shows.
COPY docs /srv/treescore/docs
# Machine code is kept in a folder of its own, made for any processor of the kind: it is used as it lies, also where the
# root is read-only.
ENV PATH=/opt/treescore/bin:$PATH \
    PYTHONPATH=/srv/treescore \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/var/cache/treescore \
    NUMBA_CPU_NAME=generic \
    TREESCORE_BIND=0.0.0.0:8000 \
    TREESCORE_DATA_DIR=/var/lib/treescore
WORKDIR /var/lib/treescore
RUN install --directory --owner=10001 --group=10001 /var/cache/treescore && \
    install --directory --owner=10001 --group=10001 --mode=700 /var/lib/treescore
USER 10001:10001
# Compile what scores large texts.
RUN python -m treescore.warm
EXPOSE 8000
STOPSIGNAL SIGTERM
# http.client and not urllib: a proxy named by the environment must not answer in place of the API.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8000, timeout=4); c.request('GET', '/readyz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["python", "-m", "service"]
CMD ["api"]

# One image for controller, router and workers. Both stages start from BASE: any Debian-like image with Python 3.11.
ARG BASE=python:3.11-slim
FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /src
# Wheels already in /src/wheels (`make wheels`) are used instead of the network.
RUN python3 -m venv /opt/tidewise && if [ -d /src/wheels ]; \
    then /opt/tidewise/bin/pip install --no-index --find-links /src/wheels tidewise; \
    else /opt/tidewise/bin/pip install /src; fi

FROM ${BASE}
COPY --from=build /opt/tidewise /opt/tidewise
RUN useradd --create-home --uid 10001 tidewise && mkdir /state && chown tidewise /state
USER tidewise
ENV PATH=/opt/tidewise/bin:$PATH PYTHONUNBUFFERED=1
WORKDIR /state
ENTRYPOINT ["tidewise"]
CMD ["--help"]

# One image for controller, router and workers. Both stages start from BASE: any Debian-like image with Python 3.11.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
# Wheels made on the host (`make wheels`) are used instead of the network and a compiler.
COPY Dockerfile wheels* /wheels/
RUN ls /wheels/*.whl > /dev/null 2>&1 \
    || { apt-get update && apt-get install -y --no-install-recommends g++ libnghttp2-dev && rm -rf /var/lib/apt/lists/*; }
RUN python3 -m venv /opt/tidewise
COPY . /src
RUN if ls /wheels/*.whl > /dev/null 2>&1; \
    then /opt/tidewise/bin/pip install --no-cache-dir --no-index --find-links /wheels tidewise; \
    else /opt/tidewise/bin/pip install --no-cache-dir /src; fi
# Says what is missing, and fails if anything is broken. What only tests, compilers and pip need stays behind.
RUN /opt/tidewise/bin/tidewise doctor \
    && /opt/tidewise/bin/pip uninstall -y --quiet setuptools pip \
    && find /opt/tidewise -depth \( -name tests -o -name include \) -type d -exec rm -r {} +

FROM ${BASE}
# What the router's C++ data plane is linked to. Where it cannot be had, the router forwards in Python and says so.
RUN dpkg-query -W libnghttp2-14 > /dev/null 2>&1 \
    || { apt-get update && apt-get install -y --no-install-recommends libnghttp2-14; } \
    || echo "libnghttp2-14 cannot be installed: the Python data plane will serve"; \
    rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 tidewise && mkdir /state && chown tidewise /state
COPY --from=build /opt/tidewise /opt/tidewise
USER tidewise
# onnxruntime reports to its makers unless told not to.
ENV PATH=/opt/tidewise/bin:$PATH PYTHONUNBUFFERED=1 ORT_DISABLE_TELEMETRY=1
WORKDIR /state
ENTRYPOINT ["tidewise"]
CMD ["--help"]

# One image for the service and its workers: dependencies from the lock file, then the package, then no root.
FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /opt/muniment && /opt/muniment/bin/pip install --no-cache-dir uv
COPY requirements.lock ./
RUN VIRTUAL_ENV=/opt/muniment /opt/muniment/bin/uv pip install --no-cache --require-hashes -r requirements.lock
COPY . .
RUN VIRTUAL_ENV=/opt/muniment /opt/muniment/bin/uv pip install --no-cache --no-deps .

FROM python:3.11-slim
COPY --from=build /opt/muniment /opt/muniment
RUN useradd --create-home --uid 10001 muniment && install -d -o muniment -m 0700 /var/lib/muniment
COPY --chown=muniment policies /etc/muniment/policies
USER muniment
ENV PATH=/opt/muniment/bin:$PATH \
    MUNIMENT_DATA_DIR=/var/lib/muniment \
    MUNIMENT_POLICIES_DIR=/etc/muniment/policies \
    MUNIMENT_HOST=0.0.0.0
VOLUME /var/lib/muniment
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
CMD ["muniment", "serve"]

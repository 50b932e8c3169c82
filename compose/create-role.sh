#!/bin/sh
# The service's own role: never a superuser, since row-level security does not hold for those.
# The key store gets a database of its own, so that backups of the record do not carry the keys.
set -eu
psql -v ON_ERROR_STOP=1 -U postgres -v password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE muniment LOGIN NOSUPERUSER PASSWORD :'password';
CREATE DATABASE muniment OWNER muniment;
CREATE DATABASE muniment_keys OWNER muniment;
SQL

// The connection of a PostgreSQL store, for other tables in the same database.
export { openPostgresDatabase, type PostgresDatabase, type SqlValue } from './database.ts';

// A process that starts a PostgreSQL for tests, prints its location, and waits to be killed.
import { Client } from 'pg';
import { startPostgres } from './postgres.ts';

const server = await startPostgres();
if (typeof server === 'string') throw new Error(server);
const client = new Client({ connectionString: server.url });
await client.connect();
const [shown] = (await client.query<{ readonly data_directory: string }>('SHOW data_directory')).rows;
// The open connection keeps the process running.
console.log(JSON.stringify({ pid: server.pid, place: shown?.data_directory }));

// Reads the location of a PostgreSQL store: the URL of the server or of its connection pooler, and the direct address behind a pooler.
import { FairleadError } from '../../core/index.ts';

/** Where a PostgreSQL store is. */
export type PostgresLocation = {
  /** The URL that the driver connects to. */
  readonly url: string;
  /** The URL of the server behind the pooler, for notifications: a pooler in transaction mode does not forward them. */
  readonly directUrl?: string;
};

/** Values of `sslmode` that the driver treats as `verify-full`, each with a warning of several lines. */
const strictSslModes: readonly (string | null)[] = ['prefer', 'require', 'verify-ca'];

/** Parses a location. `?direct=<host>:<port>` is the address of the server behind a pooler. */
export function parsePostgresLocation(location: string): PostgresLocation {
  // Other forms, such as a list of hosts, are left to the driver.
  if (!URL.canParse(location)) return { url: location };
  const url = new URL(location);
  const { searchParams } = url;
  const isStrict =
    searchParams.get('uselibpqcompat') !== 'true' && strictSslModes.includes(searchParams.get('sslmode'));
  if (isStrict) searchParams.set('sslmode', 'verify-full');
  const direct = searchParams.get('direct');
  if (direct === null) return { url: isStrict ? url.href : location };
  searchParams.delete('direct');
  return { url: url.href, directUrl: toDirectUrl(url, direct) };
}

function toDirectUrl(pooler: URL, address: string): string {
  // The address is not repeated: one with a user may have a password.
  if (!/^[^\s/@?#]+$/.test(address) || !URL.canParse(`postgres://${address}`))
    throw new FairleadError('store/no-location', 'The parameter "direct" of a store is <host>:<port>.', {
      blame: 'user',
      hint: 'It is the address of PostgreSQL itself, such as postgres://<user>:<password>@<pooler>:6432/<database>?direct=<host>:5432.',
    });
  const { hostname, port } = new URL(`postgres://${address}`);
  const url = new URL(pooler);
  // The driver prefers these parameters to the address: they name the pooler.
  for (const name of ['host', 'port']) url.searchParams.delete(name);
  url.hostname = hostname;
  url.port = port;
  return url.href;
}

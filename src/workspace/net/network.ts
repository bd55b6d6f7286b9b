// Adds network access to a workspace, as far as the user allows. Loaded at the first request.
import type { Workspace } from '../../core/index.ts';

/** What network access is allowed. It comes from the user, never from a model. */
export type NetworkOptions = {
  /** The only allowed hosts: `host`, `*.host` for every subdomain, either with `:port`. Default: every public host. */
  readonly hosts?: readonly string[];
  /** Hosts that are allowed although they are on a private network, in the same notation. */
  readonly privateHosts?: readonly string[];
  /** The proxy to use, which then resolves addresses. Environment variables are ignored. */
  readonly proxy?: string;
  /** `stop` ends a request that is redirected to another host: each host that a model reaches then passes the gates. Default `follow`. */
  readonly otherHosts?: 'follow' | 'stop';
  /** Resolves a host name. Default: the system resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** An additional certificate authority to trust, as PEM. */
  readonly ca?: string;
};

/** Creates the network access that these options allow. */
export const createNetworkFetch =
  (options: NetworkOptions = {}): NonNullable<Workspace['fetch']> =>
  async (request, how) => {
    const { guardedFetch } = await import('./fetch.ts');
    return guardedFetch(options, request, how);
  };

/** Returns this workspace with network access as these options allow. */
export const withNetwork = (workspace: Workspace, options: NetworkOptions = {}): Workspace => ({
  ...workspace,
  fetch: createNetworkFetch(options),
});

// Opens the network for a workspace, as far as a person says; all that it takes is loaded when something is asked.
import type { Workspace } from '../../core/index.ts';

/** What of the network is open. It comes from a person, never from a model. */
export type NetworkOptions = {
  /** The only hosts that are asked: `host`, `*.host` for every host below it, either with `:port`. Every public one unless given. */
  readonly hosts?: readonly string[];
  /** Hosts that are asked although they are on a private network, in the same spelling. */
  readonly privateHosts?: readonly string[];
  /** The proxy to go through, which then is the one that finds addresses. No variable of the environment is looked at. */
  readonly proxy?: string;
  /** Finds the addresses of a name; as the system does unless given. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** A certificate authority that is trusted beside the usual ones, as PEM. */
  readonly ca?: string;
};

/** This workspace with the network open as far as these options say. */
export const withNetwork = (workspace: Workspace, options: NetworkOptions = {}): Workspace => ({
  ...workspace,
  async fetch(request, how) {
    const { guardedFetch } = await import('./fetch.ts');
    return guardedFetch(options, request, how);
  },
});

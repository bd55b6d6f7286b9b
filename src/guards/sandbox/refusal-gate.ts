// The gate of tools that run commands: a call that no sandbox could run is denied with the reason, before the user is asked to approve it.
import type { Gate } from '../../core/index.ts';
import type { HostExec, Sandbox } from './sandbox.ts';

/** Creates a gate from the sandbox of each tool that runs commands. */
export const sandboxRefusalGate =
  (sandboxes: ReadonlyMap<string, Sandbox>, outside: HostExec): Gate =>
  async ({ tool }) => {
    const reason = await sandboxes.get(tool)?.findRefusal?.(outside);
    return reason === undefined ? { type: 'allow' } : { type: 'deny', reason };
  };

// What runs inside a namespace sandbox before the command: the check of its mounts, its limits, and the relay to the proxy of allowed hosts.
import path from 'node:path';
import type { EgressProxy } from './egress.ts';
import { mountCheckScript } from './mount-check.ts';
import { expectedMounts, type InnerMounts } from './mounts.ts';
import { argvAfterSetup, type SandboxAccess, type SandboxPaths } from './sandbox.ts';

/** Where the folder with the socket of the proxy is inside. */
export const proxyFolder = '/run/fairlead';

const proxyPort = 3128;
const proxyUrl = `http://127.0.0.1:${proxyPort}`;
const proxyUrlNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'all_proxy'];

/** The variables that make programs use the proxy. */
export const proxyVariables: readonly (readonly [name: string, value: string])[] = [
  ...proxyUrlNames.map((name) => [name, proxyUrl] as const),
  ['NO_PROXY', 'localhost,127.0.0.1'],
  ['NODE_USE_ENV_PROXY', '1'],
];

/** The limits of one command: processes, open files, file size and memory. If memory runs out, the kernel kills the command first. */
const resourceLimits = [
  'echo 1000 >/proc/self/oom_score_adj',
  'ulimit -c 0',
  // Shells differ in the name of this option.
  'ulimit -u 2048 || ulimit -p 2048',
  'ulimit -n 4096',
  'ulimit -f 16777216',
  'ulimit -d 8388608',
];

/** Programs in the sandbox use a proxy port: socat forwards it to the proxy socket, and must listen before the command starts. */
function proxyRelayCommand({ socket }: EgressProxy): string {
  const socketPath = `${proxyFolder}/${path.basename(socket)}`;
  const listen = `socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,reuseaddr,fork UNIX-CONNECT:${socketPath} >/dev/null 2>&1 &`;
  return `${listen} until socat -u OPEN:/dev/null TCP:127.0.0.1:${proxyPort} 2>/dev/null; do sleep 0.01; done;`;
}

/** Returns the arguments that run a command inside, after its mounts were checked and its limits set. */
export function withCommandSetup(
  command: string | readonly string[],
  checkScript: string,
  proxy?: EgressProxy,
): readonly string[] {
  const limits = `{ ${resourceLimits.join('; ')}; } 2>/dev/null;`;
  return argvAfterSetup(`${checkScript} ${limits} ${proxy ? proxyRelayCommand(proxy) : ''}`, command);
}

/** Returns the check of the mounts inside. It takes some milliseconds, so it is left out if no other command could have replaced a mount. */
export const mountCheckOf = (paths: SandboxPaths, access: SandboxAccess, inner: InnerMounts): string =>
  access.isAlone && !inner.isReplaceable ? '' : mountCheckScript(expectedMounts(paths, access, inner));

// Where the calls of a working folder are judged: its paths, and which hosts belong to this machine and its network.
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import type { Workspace } from '../core/index.ts';
import type { PolicyContext } from '../guards/index.ts';
import { isPublicAddress } from '../workspace/index.ts';

/** The ground of a workspace. */
export const createPolicyContext = ({ cwd, locate }: Pick<Workspace, 'cwd' | 'locate'>): PolicyContext => ({
  cwd,
  locate: (given) => locate(given),
  home: homedir(),
  isPrivate: (host) => (isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(host)),
});

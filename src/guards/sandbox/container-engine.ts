// The engine of containers, podman or docker: found where no command could have created it, and asked for its volume before a command runs.
import path from 'node:path';
import { FairleadError, type ExecResult } from '../../core/index.ts';
import type { HostExec } from './sandbox.ts';
import { findTrustedProgram } from './trusted-program.ts';

type EngineVolume = { readonly engine: string; readonly volume: string };

/** The error of a container that cannot run a command. */
export const containerError = (message: string, cause?: unknown): FairleadError =>
  new FairleadError('sandbox/unusable', message, { blame: 'user', ...(cause === undefined ? {} : { cause }) });

/** Returns the path of an engine that is given by name, never one in these folders, where a command could have created it. */
export function resolveTrustedEngine(engine: string, roots: readonly string[]): string {
  if (roots.length === 0 || path.isAbsolute(engine)) return engine;
  const found = findTrustedProgram(engine, { roots, path: process.env['PATH'] ?? '' });
  if (found === undefined) throw engineMissingError(engine);
  return found;
}

const engineMissingError = (engine: string, cause?: unknown): FairleadError =>
  containerError(
    `${engine} is not installed, so nothing was run. Install it (apt-get install podman), or set SANDBOX_CONTAINER_RUNTIME_EXECUTABLE to an installed engine.`,
    cause,
  );

/** Throws unless the engine works and has the volume. */
export async function assertVolumePresent(outside: HostExec, { engine, volume }: EngineVolume): Promise<true> {
  let result: ExecResult;
  try {
    result = await outside([engine, 'volume', 'inspect', volume], { timeoutMs: 10_000 });
  } catch (cause) {
    throw engineMissingError(engine, cause);
  }
  if (result.code !== 0 && !/no such|not found|no volume/i.test(result.text))
    throw containerError(`${engine} does not work here: ${result.text.trim()}`);
  if (result.code !== 0)
    throw containerError(
      `The sandbox volume does not exist, so nothing was run. Create it: ${engine} volume create ${volume}`,
    );
  return true;
}

// Reports the three conditions of the lethal trifecta in a session: private data, untrusted text, and the ways out that were used.
import type { Event, Tool } from '../../core/index.ts';
import { collectDeclarations, explainSession, formatTrifecta } from '../../guards/flow/index.ts';
import type { Settings } from '../settings/index.ts';
import { readDeclarations } from './declaration-files.ts';

/** Returns the lines of the report, each with its name. */
export async function reportTrifecta(
  events: readonly Event[],
  { tools, dirs, cwd }: { tools: ReadonlyMap<string, Tool>; dirs: Settings['dirs']; cwd: string },
): Promise<readonly (readonly [name: string, text: string])[]> {
  const declarations = await collectDeclarations({ tools, declarations: readDeclarations(dirs, cwd) });
  const { trifecta, calls } = explainSession(events, declarations, { roots: [cwd] });
  return formatTrifecta(
    trifecta,
    calls.flatMap(({ destinations = [] }) => destinations),
  );
}

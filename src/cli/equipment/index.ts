// Everything a working folder's agent has beside its own tools, from all sources at once.
import { mergeExtensions } from '../../agent/index.ts';
import { agentEquipment } from './agents.ts';
import { customEquipment } from './custom.ts';
import type { Equipment, Ground } from './ground.ts';
import { hookEquipment } from './hooks.ts';
import { languageEquipment } from './language.ts';
import { loginEquipment } from './login.ts';
import { mcpEquipment } from './mcp.ts';
import { personEquipment } from './person.ts';
import { ruleEquipment } from './rules.ts';
import { searchEquipment } from './search.ts';

export { nobody, type Equipment, type Ground, type Person } from './ground.ts';

/** What holds whatever tools there are. */
const guards = [ruleEquipment, hookEquipment];

const sources = [
  ...guards,
  personEquipment,
  searchEquipment,
  loginEquipment,
  languageEquipment,
  agentEquipment,
  customEquipment,
  mcpEquipment,
];

/** The equipment of all sources, in the order that the tools are listed in; an agent that only runs code has none but its guards. */
export async function equipmentFor(code: boolean, ground: Ground): Promise<Equipment> {
  const all = await Promise.all((code ? guards : sources).map((source) => source(ground)));
  const system = all.flatMap((each) => each.system ?? []).join('\n\n');
  const ears = all.find((each) => each.ears)?.ears;
  return {
    tools: all.flatMap(({ tools }) => tools),
    problems: all.flatMap(({ problems }) => problems),
    extension: mergeExtensions(all.map(({ extension = {} }) => extension)),
    ...(system ? { system } : {}),
    ...(ears ? { ears } : {}),
    around: (tool) => all.reduce((inner, { around }) => around?.(inner) ?? inner, tool),
    close: async () => void (await Promise.all(all.map((each) => each.close()))),
  };
}

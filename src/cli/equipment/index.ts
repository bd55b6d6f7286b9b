// Everything a working folder's agent has beside its own tools, from all sources at once.
import { agentEquipment } from './agents.ts';
import { customEquipment } from './custom.ts';
import { nothing, type Equipment, type Ground } from './ground.ts';
import { languageEquipment } from './language.ts';
import { loginEquipment } from './login.ts';
import { mcpEquipment } from './mcp.ts';
import { personEquipment } from './person.ts';
import { searchEquipment } from './search.ts';

export { nobody, type Equipment, type Ground, type Person } from './ground.ts';

const sources = [
  personEquipment,
  searchEquipment,
  loginEquipment,
  languageEquipment,
  agentEquipment,
  customEquipment,
  mcpEquipment,
];

/** The equipment of all sources, in the order that the tools are listed in; none where the agent only runs code. */
export async function equipmentFor(code: boolean, ground: Ground): Promise<Equipment> {
  if (code) return nothing;
  const all = await Promise.all(sources.map((source) => source(ground)));
  return {
    tools: all.flatMap(({ tools }) => tools),
    problems: all.flatMap(({ problems }) => problems),
    around: (tool) => all.reduce((inner, { around }) => around?.(inner) ?? inner, tool),
    close: async () => void (await Promise.all(all.map((each) => each.close()))),
  };
}

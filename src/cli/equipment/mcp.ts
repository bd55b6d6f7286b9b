// MCP servers as a source of tools: those of the person and, once approved, of the project.
import { nothing, type Equipment, type Ground } from './ground.ts';

/** MCP servers as a source of tools: those of the person and, once approved, of the project. */
export const mcpEquipment = async (_ground: Ground): Promise<Equipment> => nothing;

// Agents that the model may start, look at, speak to and stop.
import { nothing, type Equipment, type Ground } from './ground.ts';

/** Agents that the model may start, look at, speak to and stop. */
export const agentEquipment = async (_ground: Ground): Promise<Equipment> => nothing;

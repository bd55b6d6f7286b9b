// Tools that people wrote themselves, in their own folder and, once approved, in the project.
import { nothing, type Equipment, type Ground } from './ground.ts';

/** Tools that people wrote themselves, in their own folder and, once approved, in the project. */
export const customEquipment = async (_ground: Ground): Promise<Equipment> => nothing;

// Files of a project: finds the repository, reads files that must lie inside it, and finds skills and commands.
export { getAgentDirs, type AgentDir, type AgentFileFormat } from './agent-dirs.ts';
export { tryRealPath, resolvesInside, findRepositoryRoot, ancestorDirs } from './paths.ts';
export { collectFiles, getCommandDirs, getSkillDirs } from './search-dirs.ts';
export { readTextFile } from './text-file.ts';
export { skillTool } from './skill-tool.ts';
export { findSkills, formatSkills, parseSkill } from './skills.ts';
export { findUserCommands } from './user-commands.ts';

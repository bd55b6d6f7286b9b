// Integrations of the coding agent that other modules use: prompts of the user, MCP servers, rules.
export { noUser, type Integration, type IntegrationContext, type UserPrompter } from './context.ts';
export { formatMcpTransport } from './mcp-format.ts';
export { listAllReminders, getDefaultRules } from './default-rules.ts';
export { mayStartMcpServer, getRefusalKey, readMcpServerConfig, defaultMcpOptions } from './open-mcp.ts';
export { createMcpAnswerers, offerMcpLogin } from './mcp-elicitation.ts';
export {
  addMcpServer,
  getMcpConfigFile,
  removeMcpServer,
  type McpScope,
  type McpServerEntry,
} from './mcp-config-edit.ts';
export { readProjectRuleFiles, compileRuleSets } from './rules.ts';
export { switchMcpTool } from './mcp-tools-off.ts';

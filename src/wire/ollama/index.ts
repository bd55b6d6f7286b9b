// Exports of src/wire/ollama for other modules.
export { parseOllamaFinish, parseOllamaUsage, ollamaFinishNames, writeOllamaUsage } from './usage.ts';

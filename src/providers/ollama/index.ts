// Exports of src/providers/ollama for other modules.
export { resolveOllamaContextWindow } from './context-window.ts';

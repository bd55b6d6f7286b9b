// The Ollama provider and the context window that Ollama uses for a model.
export { resolveOllamaContextWindow } from './context-window.ts';

import { Usage } from '@openai/agents';

/** A scripted model in the place of a real one: it asks for one refund, then reports the outcome. */
export const model = {
  async getResponse({ input }) {
    const last = Array.isArray(input) ? input.at(-1) : undefined;
    const output =
      last?.type === 'function_call_result'
        ? { type: 'message', role: 'assistant', status: 'completed', content: [text(last.output)] }
        : {
            type: 'function_call',
            callId: 'call_1',
            name: 'refund',
            status: 'completed',
            arguments: JSON.stringify({ order: 42, euro: 30 }),
          };
    return { usage: new Usage(), output: [output] };
  },
};

function text(output) {
  return { type: 'output_text', text: `The tool said: ${output.text ?? output}` };
}

/** A scripted model in the place of a real one: it asks for a refund and a parcel, then reports. */
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const call = (toolCallId, toolName) => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: JSON.stringify({ order: 42 }),
});

export const model = {
  specificationVersion: 'v3',
  provider: 'example',
  modelId: 'scripted',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const results = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
    if (results.length === 0) {
      const content = [call('call_1', 'refund'), call('call_2', 'parcel')];
      return { content, finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
    }
    const said = results.map(
      ({ toolName, output }) =>
        `${toolName}: ${output.type === 'execution-denied' ? `denied: ${output.reason}` : JSON.stringify(output.value)}`,
    );
    const content = [{ type: 'text', text: said.sort().join(', ') }];
    return { content, finishReason: { unified: 'stop' }, usage, warnings: [] };
  },
};

// What each client of this folder does with the server with everything, and what it saw of it, as one JSON object on stdout.

const SLOW_MS = 60_000;
const PATIENCE_MS = 15_000;

/**
 * `actions`: `revision()`, `names()`, `call(name, args, { onprogress, signal })`, and `changed`, a promise that a change of the
 * list of tools fulfils. Whatever fails is told as text under its own key.
 */
export async function story(actions) {
    const seen = {};
    const tell = async (key, action) => {
        try {
            seen[key] = await within(PATIENCE_MS, action());
        } catch (error) {
            seen[key] = { failed: String(error?.message ?? error) };
        }
    };
    await tell('revision', async () => actions.revision());
    await tell('tools', async () => (await actions.names()).length);
    await tell('plain', async () => (await actions.call('test_simple_text', {})).content[0].text);
    await tell('error', async () => {
        const result = await actions.call('test_error_handling', {});
        return { isError: result.isError, text: result.content[0].text };
    });
    await tell('unknown', async () => {
        try {
            await actions.call('no_such_tool', {});
            return 'answered';
        } catch (error) {
            return error.code ?? 'an error without a code';
        }
    });
    await tell('structured', async () => (await actions.call('test_structured_content', { a: 1, b: 2 })).structuredContent);
    await tell('image', async () => {
        const block = (await actions.call('test_image_content', {})).content[0];
        return { type: block.type, mimeType: block.mimeType, isData: block.data.length > 0 };
    });
    await tell('progress', async () => {
        const steps = [];
        await actions.call('test_tool_with_progress', {}, { onprogress: step => steps.push(step.progress) });
        return steps;
    });
    await tell('cancelled', async () => {
        const abort = new AbortController();
        const begun = Date.now();
        const call = actions.call('test_slow', { ms: SLOW_MS }, { signal: abort.signal });
        setTimeout(() => abort.abort(), 300);
        const ended = await call.then(
            () => 'answered',
            () => 'cancelled'
        );
        const after = await actions.call('test_simple_text', {});
        return ended === 'cancelled' && Date.now() - begun < SLOW_MS / 2 && after.content.length === 1;
    });
    await tell('changed', async () => {
        await actions.call('test_trigger_tool_change', {});
        await actions.changed;
        return true;
    });
    await tell('elicited', async () => (await actions.call('test_elicitation', { message: 'Who?' })).content[0].text);
    return seen;
}

function within(ms, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`nothing after ${ms} ms`)), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The arguments: an era, then `stdio COMMAND ARG…` or `http URL`. */
export function way() {
    const [era, transport, target, ...args] = process.argv.slice(2);
    return { era, transport, target, args };
}

export function done(seen) {
    process.stdout.write(JSON.stringify(seen), () => process.exit(0));
}

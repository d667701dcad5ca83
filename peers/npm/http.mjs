// How the servers here serve HTTP, and how a server of others that is loaded with `--import` is made to: on a free port of
// 127.0.0.1, with the URL as the one line on stdout, until stdin ends, so that no server outlives its test.

import net from 'node:net';

const listen = net.Server.prototype.listen;

/** The arguments that others give are no matter: a port of their own, all addresses. */
net.Server.prototype.listen = function (...args) {
    const done = args.findLast(argument => typeof argument === 'function');
    return listen.call(this, 0, '127.0.0.1', () => {
        console.log(`http://127.0.0.1:${this.address().port}${process.env.PEER_PATH ?? '/mcp'}`);
        process.stdin.on('end', () => process.exit()).resume();
        done?.();
    });
};

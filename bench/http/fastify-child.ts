/**
 * A bare Fastify with its defaults: every POST is read as JSON and answered with an object by its path, serialized anew
 * each time. The answers are given as an argument, so that they are as large as those of the service.
 */
import fastify from 'fastify';

const answers = JSON.parse(process.argv[2] ?? '{}') as Record<string, unknown>;
const app = fastify();
for (const [path, answer] of Object.entries(answers))
  app.post(path, (request) => {
    if (typeof request.body !== 'object') throw new Error('the body was not read');
    return Promise.resolve(answer);
  });
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));

import { replaceDatabaseInMongoUrl } from './mongo-server.ts';

it.each([
  ['mongodb://127.0.0.1:27017', 'mongodb://127.0.0.1:27017/test'],
  ['mongodb://127.0.0.1:27017/', 'mongodb://127.0.0.1:27017/test'],
  ['mongodb://a:1,b:2/tracking?replicaSet=rs0', 'mongodb://a:1,b:2/test?replicaSet=rs0'],
  ['mongodb://u:p%40@a:1/?authSource=admin', 'mongodb://u:p%40@a:1/test?authSource=admin'],
  ['mongodb+srv://u:p@example.com?tls=true', 'mongodb+srv://u:p@example.com/test?tls=true'],
])('the connection string %s gets another database', (url, expected) => {
  expect(replaceDatabaseInMongoUrl(url, 'test')).toBe(expected);
});

it('a connection string gets other credentials', () => {
  expect(replaceDatabaseInMongoUrl('mongodb://a:1/x', 'test', 'u:p')).toBe('mongodb://u:p@a:1/test');
  expect(replaceDatabaseInMongoUrl('mongodb://v:q@a:1/x', 'test', 'u:p')).toBe('mongodb://u:p@a:1/test');
});

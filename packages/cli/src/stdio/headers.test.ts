import { describe, expect, it } from 'vitest';
import { headerValue, messageHeaders } from './headers.ts';
import type { Message } from './message.ts';

const VERSION = '2026-07-28';
const stateless = (method: string, params: Record<string, unknown>): Message => ({
  id: 1,
  method,
  params: { ...params, _meta: { 'io.modelcontextprotocol/protocolVersion': VERSION } },
});
const session = { version: '2025-11-25', id: 'sess' };

describe('headers of the stateless era', () => {
  it.each([
    ['tools/call', { name: 'demo' }, 'demo'],
    ['prompts/get', { name: 'p' }, 'p'],
    ['resources/read', { uri: 'patchbay://docs/index' }, 'patchbay://docs/index'],
    ['tasks/get', { taskId: 't1' }, 't1'],
    ['tools/list', { name: 'no' }, undefined],
    ['tools/call', { name: 5 }, undefined],
  ])('of %s %j mirror the message', (method, params, name) => {
    const headers = messageHeaders([stateless(method, params)], session);
    expect(headers['mcp-protocol-version']).toBe(VERSION);
    expect(headers['mcp-method']).toBe(method);
    expect(headers['mcp-name']).toBe(name);
    expect(headers['mcp-session-id']).toBeUndefined();
  });
});

describe('headers of the older eras', () => {
  it('carry what initialize settled', () => {
    const headers = messageHeaders([{ id: 2, method: 'tools/list' }], session);
    expect(headers).toMatchObject({ 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'sess' });
    expect(headers['mcp-method']).toBeUndefined();
  });

  it('carry nothing with initialize itself, before it, and where the server gave no id', () => {
    const initialize = { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
    expect(Object.keys(messageHeaders([initialize], session))).toEqual(['content-type', 'accept']);
    expect(Object.keys(messageHeaders([{ id: 1, method: 'tools/list' }], undefined))).toHaveLength(2);
    const headers = messageHeaders([{ id: 2, method: 'ping' }], { version: '2025-06-18', id: undefined });
    expect(headers['mcp-session-id']).toBeUndefined();
  });
});

describe('headerValue', () => {
  it.each([
    ['server__tool', 'server__tool'],
    ['with inner space', 'with inner space'],
    ['kérdés', '=?base64?a8OpcmTDqXM=?='],
    [' padded', '=?base64?IHBhZGRlZA==?='],
    ['a\r\nX-Evil: 1', '=?base64?YQ0KWC1FdmlsOiAx?='],
    ['', '=?base64??='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
  ])('of %j is %s', (value, header) => {
    expect(headerValue(value)).toBe(header);
    expect(() => new Headers({ 'mcp-name': header })).not.toThrow();
  });
});

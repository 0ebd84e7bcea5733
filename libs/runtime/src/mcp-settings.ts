import {
  parseCommaSeparatedList,
  parseApiKeySetting,
  parseBoolean,
  createChoiceSettingType,
  parseTextSetting,
  parseHttpUrlSetting,
} from './setting-types.ts';

/** Settings of the MCP server. */
export const MCP_SETTINGS = {
  MCP_ALLOWED_ORIGINS: {
    type: parseCommaSeparatedList,
    programs: ['mcp'],
    default: '',
    for: 'origins whose pages may call the MCP server, comma-separated; other pages get 403',
  },
  MCP_ALLOW_WRITES: {
    type: parseBoolean,
    programs: ['mcp'],
    default: 'false',
    for: 'offers the [tools that write](../guides/mcp.md#tools-that-write)',
  },
  MCP_PORTS: {
    type: parseTextSetting,
    programs: ['compose'],
    default: '127.0.0.1:3100',
    for: 'port on this machine for the MCP server',
  },
  MCP_TRANSPORT: {
    type: createChoiceSettingType('stdio', 'http'),
    programs: ['mcp'],
    default: 'stdio',
    for: 'transport of the [MCP server](../guides/mcp.md): `stdio` or `http`',
  },
} as const;

/** Settings with which the MCP server finds the API. */
export const MCP_API_ACCESS_SETTINGS = {
  TRACKING_API_KEY: {
    type: parseApiKeySetting,
    programs: ['mcp'],
    for: 'API key of the MCP server with the transport `stdio`',
  },
  TRACKING_URL: {
    type: parseHttpUrlSetting,
    programs: ['mcp'],
    default: 'http://127.0.0.1:3000',
    for: 'URL of the API for the MCP server',
  },
} as const;

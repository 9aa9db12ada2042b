import { z } from 'zod';
import { CREATES, defineOperation, type Family, READS, REMOVES } from '../operation.ts';
import { limitOf } from './arguments.ts';

const family: Family = {
  name: 'Files',
  description:
    'Files that come with messages: declared here, uploaded with PUT to the address that is answered, and then named by `file_id` in `attachments`. Only their owner reaches them.',
};

const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** A name without a path: it goes into headers and other people's folders. */
function isPlainName(name: string): boolean {
  return !/[/\\\p{Cc}\p{Cf}]/u.test(name) && name.trim() !== '' && name !== '.' && name !== '..';
}

const fileInfo = z.object({
  file_id: z.string(),
  filename: z.string(),
  content_type: z.string(),
  size: z.int().describe('Bytes'),
  status: z.enum(['pending', 'uploaded']).describe('pending: its bytes are not there yet'),
  sha256: z.string().optional().describe('Of the bytes, in hex; absent while pending'),
  created_at: z.int(),
  uploaded_at: z.int().optional(),
});

const fileId = z.string().describe('Id of a file of yours');

export const presignUpload = defineOperation({
  name: 'presign_upload',
  family,
  title: 'Declare a file and get an address to upload it to',
  description:
    'Answers an id and a signed address. PUT the bytes there within 15 minutes, without a credential: exactly as many as declared, at most 20 MiB.',
  input: z.object({
    filename: z
      .string()
      .min(1)
      .max(255)
      .refine(isPlainName, 'must be a file name without a path and without control characters')
      .describe('Name of the file, without a path'),
    content_type: z
      .string()
      .max(127)
      .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/, 'must be a media type such as text/csv, without parameters')
      .transform(type => type.toLowerCase())
      .describe('Media type of the bytes, such as text/csv'),
    size: z.int().min(1).max(MAX_FILE_BYTES).describe('Number of bytes'),
  }),
  output: z.object({
    file_id: z.string(),
    upload_url: z.string().describe('Where the bytes go, with PUT'),
    expires: z.int().describe('When the address ends'),
  }),
  errors: ['conflict'],
  tier: 'account',
  tool: false,
  annotations: CREATES,
  noted: false,
  runsTurn: false,
  rest: { method: 'POST', path: '/files/presign-upload', surface: 'agents' },
  examples: [{ filename: 'sales.csv', content_type: 'text/csv', size: 1_024 }],
});

export const listFiles = defineOperation({
  name: 'list_files',
  family,
  title: 'List your files',
  description: 'Files you declared or uploaded, by id.',
  input: z.object({
    limit: limitOf(500, 100),
    after: z.string().optional().describe('Optional. Only files whose id comes after this one'),
  }),
  output: z.object({ count: z.int(), files: z.array(fileInfo) }),
  errors: [],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/files', surface: 'agents' },
  examples: [{}],
});

export const readFile = defineOperation({
  name: 'read_file',
  family,
  title: 'Look at a file',
  description:
    'What is known of a file of yours, with an address that opens its bytes for 24 hours without a credential. A file of somebody else is not found, as one that is not there.',
  input: z.object({ file_id: fileId }),
  output: fileInfo.extend({
    download_url: z.string().optional().describe('Absent while pending'),
    download_expires: z.int().optional(),
  }),
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/files/{file_id}', surface: 'agents' },
  examples: [],
});

export const deleteFile = defineOperation({
  name: 'delete_file',
  family,
  title: 'Remove a file',
  description: 'Removes a file of yours and its bytes. What was said about it in conversations stays.',
  input: z.object({ file_id: fileId }),
  output: z.object({}),
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  noted: false,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/files/{file_id}', successStatus: 204, surface: 'agents' },
  examples: [],
});

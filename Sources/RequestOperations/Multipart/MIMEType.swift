/// The media types of files by their extensions.
enum MIMEType {
    /// The type of bytes of unknown content (RFC 2046, section 4.5.1).
    static let octets = "application/octet-stream"

    /// The media type for the extension of a file name, in any case. ``octets`` for an unknown extension.
    static func ofFile(named name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return octets }
        return ofExtension[name[name.index(after: dot)...].lowercased()] ?? octets
    }

    // The types of the IANA registry, and others in common use.
    private static let ofExtension: [String: String] = [
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "csv": "text/csv",
        "tsv": "text/tab-separated-values",
        "html": "text/html", "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
        "md": "text/markdown", "ics": "text/calendar", "vcf": "text/vcard", "vtt": "text/vtt",
        "json": "application/json", "jsonld": "application/ld+json", "geojson": "application/geo+json",
        "xml": "application/xml", "atom": "application/atom+xml", "rss": "application/rss+xml",
        "xhtml": "application/xhtml+xml", "plist": "application/x-plist", "yaml": "application/yaml",
        "yml": "application/yaml", "toml": "application/toml", "pdf": "application/pdf", "rtf": "application/rtf",
        "wasm": "application/wasm", "sqlite": "application/vnd.sqlite3", "db": "application/vnd.sqlite3",
        "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip", "bz2": "application/x-bzip2",
        "xz": "application/x-xz", "zst": "application/zstd", "tar": "application/x-tar",
        "7z": "application/x-7z-compressed",
        "rar": "application/vnd.rar", "jar": "application/java-archive",
        "apk": "application/vnd.android.package-archive",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "epub": "application/epub+zip",
        "p12": "application/x-pkcs12", "pem": "application/x-pem-file",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "heic": "image/heic", "heif": "image/heif", "svg": "image/svg+xml", "bmp": "image/bmp",
        "tif": "image/tiff", "tiff": "image/tiff", "ico": "image/vnd.microsoft.icon", "jxl": "image/jxl",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "wav": "audio/wav", "flac": "audio/flac",
        "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "weba": "audio/webm", "mid": "audio/midi",
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "mpeg": "video/mpeg",
        "mpg": "video/mpeg", "avi": "video/vnd.avi", "mkv": "video/matroska", "ogv": "video/ogg", "3gp": "video/3gpp",
        "otf": "font/otf", "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]
}

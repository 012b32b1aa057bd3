import Foundation

/// The text of nginx's configuration.
struct NginxConfiguration: CustomStringConvertible {
    let folder: URL
    let pages: URL
    let certificate: URL
    let key: URL
    let plainPort: Int
    let tlsPort: Int
    let http2Port: Int
    /// Where the server that does things wrong listens, if it runs.
    let faultyPort: Int

    var description: String {
        """
        daemon off;
        worker_processes 1;
        worker_rlimit_nofile 8192;
        pid \(folder.path)/nginx.pid;
        \(getuid() == 0 ? "user root;" : "")
        events { worker_connections 4096; }
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            open_file_cache max=16;
            default_type application/octet-stream;
            keepalive_requests 1000000000;
            client_max_body_size 0;
            client_body_temp_path \(folder.path)/body;
            proxy_temp_path \(folder.path)/unused;
            fastcgi_temp_path \(folder.path)/unused;
            uwsgi_temp_path \(folder.path)/unused;
            scgi_temp_path \(folder.path)/unused;
            ssl_certificate \(certificate.path);
            ssl_certificate_key \(key.path);
            ssl_session_cache shared:benchmark:1m;
            root \(pages.path);
            limit_req_zone $binary_remote_addr zone=slow:1m rate=\(Nginx.slowRate)r/s;
            server { listen 127.0.0.1:\(plainPort) backlog=1024; \(uploads) \(slow) }
            upstream faulty { server 127.0.0.1:\(faultyPort); keepalive 64; }
            server { listen 127.0.0.1:\(tlsPort) ssl backlog=1024; \(faulty) }
            server { listen 127.0.0.1:\(http2Port) ssl http2 backlog=1024; \(faulty) }
        }

        """
    }

    private var uploads: String { "location /upload/ { dav_methods PUT; create_full_put_path on; }" }

    private var slow: String { "location /slow/ { limit_req zone=slow burst=100000; alias \(pages.path)/; }" }

    /// What is wrong is passed on as it comes, and is no error of nginx's.
    private var faulty: String {
        """
        location /faulty/ {
            proxy_pass http://faulty;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_next_upstream off;
            error_log \(folder.path)/error.log crit;
        }
        """
    }
}
